// The lines of an order while it is typed, with their sum.
import { DeleteOutlined, PlusOutlined } from '@ant-design/icons';
import { Button, Flex, Input, InputNumber } from 'antd';
import { texts } from '../contract/texts.ts';
import type { Control, Field } from './fields.tsx';
import { fromCents, isAmount, showAmount, toCents } from './money.ts';

const t = texts({
  'zh-CN': {
    product: '商品',
    price: '单价',
    quantity: '数量',
    add: '添加一行',
    remove: '删除这一行',
    sum: '合计',
    incomplete: '请填写每一行的商品、单价和数量',
  },
  'en-US': {
    product: 'Product',
    price: 'Price',
    quantity: 'Quantity',
    add: 'Add a line',
    remove: 'Remove this line',
    sum: 'Total',
    incomplete: 'Every line needs a product, a price and a quantity',
  },
});

export interface Line {
  product_name: string;
  price: string;
  quantity: number;
}

const emptyLine: Line = { product_name: '', price: '', quantity: 1 };

const isWhole = ({ product_name, price, quantity }: Line): boolean =>
  Boolean(product_name) && isAmount(price) && quantity > 0;

const sumOf = (lines: readonly Line[]): string =>
  fromCents(
    lines.filter(isWhole).reduce((sum, { price, quantity }) => sum + toCents(price) * BigInt(quantity), 0n),
  );

export const lines = (): Field<Line[]> => ({
  isWide: true,
  initial: [emptyLine],
  problem: (value) => (value.every(isWhole) ? undefined : t.incomplete),
  control: (props) => <Lines {...props} />,
});

function Lines({ value = [], onChange, id }: Control<Line[]>) {
  const set = (at: number, changes: Partial<Line>) =>
    onChange?.(value.map((line, index) => (index === at ? { ...line, ...changes } : line)));
  return (
    <div className="lines" id={id}>
      {value.map((line, at) => (
        <div className="line" key={at}>
          <Input
            aria-label={t.product}
            placeholder={t.product}
            maxLength={200}
            value={line.product_name}
            onChange={({ target }) => set(at, { product_name: target.value })}
          />
          <Input
            aria-label={t.price}
            placeholder={t.price}
            inputMode="decimal"
            prefix="¥"
            status={line.price && !isAmount(line.price) ? 'error' : undefined}
            value={line.price}
            onChange={({ target }) => set(at, { price: target.value })}
          />
          <InputNumber
            aria-label={t.quantity}
            className="wide"
            min={1}
            max={1_000_000}
            precision={0}
            value={line.quantity}
            onChange={(quantity) => set(at, { quantity: quantity ?? 1 })}
          />
          <Button
            type="text"
            icon={<DeleteOutlined />}
            aria-label={t.remove}
            disabled={value.length === 1}
            onClick={() => onChange?.(value.filter((_, index) => index !== at))}
          />
        </div>
      ))}
      <Flex justify="space-between" align="center">
        <Button
          icon={<PlusOutlined />}
          disabled={value.length >= 200}
          onClick={() => onChange?.([...value, emptyLine])}
        >
          {t.add}
        </Button>
        <strong className="cell-figure">
          {t.sum} {showAmount(sumOf(value))}
        </strong>
      </Flex>
    </div>
  );
}
