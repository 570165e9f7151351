// The library's input of numbers, fetched where one is typed.
import { InputNumber, type InputNumberProps } from 'antd';

export default function NumberInput(props: InputNumberProps<number>) {
  return <InputNumber<number> {...props} />;
}
