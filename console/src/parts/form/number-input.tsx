// A whole number, by the library's input; loaded on demand.
import { InputNumber, type InputNumberProps } from 'antd';

// Keys step it; the library names its buttons in English only.
export default function NumberInput(props: InputNumberProps<number>) {
  return <InputNumber<number> {...props} controls={false} precision={0} className="wide" />;
}
