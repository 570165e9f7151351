// The library's choice out of a tree, fetched where a tree is chosen from.
export { TreeSelect as default } from 'antd';
