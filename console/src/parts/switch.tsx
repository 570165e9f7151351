// The library's switch, fetched where something is switched.
export { Switch as default } from 'antd';
