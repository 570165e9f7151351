// The library's switch, loaded on demand.
export { Switch as default } from 'antd';
