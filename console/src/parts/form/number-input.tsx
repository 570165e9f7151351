// The library's number input, loaded on demand.
import { InputNumber, type InputNumberProps } from 'antd';

export default function NumberInput(props: InputNumberProps<number>) {
  return <InputNumber<number> {...props} />;
}
