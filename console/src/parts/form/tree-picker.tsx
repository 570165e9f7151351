// The library's tree select, loaded on demand.
export { TreeSelect as default } from 'antd';
