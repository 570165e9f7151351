// Editor for the lines of an order with their sum.
import { DeleteOutlined, PlusOutlined } from '@ant-design/icons';
import { Button, Flex, Form, Input, InputNumber } from 'antd';
import { texts } from '../../contract/texts.ts';
import { fromCents, showAmount, toCents, typedAmount } from '../show/money.ts';
import type { Control } from './fields.tsx';
import { emptyLine, hasWrongPrice, isWhole, type Line } from './line.ts';

const t = texts({
  product: ['商品', 'Product'],
  price: ['单价', 'Price'],
  quantity: ['数量', 'Quantity'],
  add: ['添加一行', 'Add a line'],
  remove: ['删除这一行', 'Remove this line'],
  sum: ['合计', 'Total'],
});

const sumOf = (lines: readonly Line[]): string =>
  fromCents(
    lines.filter(isWhole).reduce((sum, { price, quantity }) => sum + toCents(price) * BigInt(quantity), 0n),
  );

export default function LineTable({ value = [], onChange, id }: Control<Line[]>) {
  const set = (at: number, changes: Partial<Line>) =>
    onChange?.(value.map((line, index) => (index === at ? { ...line, ...changes } : line)));
  const isRefused = Form.Item.useStatus().status === 'error';
  return (
    // Only the cells that are wrong are marked, not all within the field.
    <Form.Item noStyle validateStatus="">
      <div className="lines" id={id}>
        {value.map((line, at) => (
          <div className="line" key={at}>
            <Input
              aria-label={t.product}
              placeholder={t.product}
              maxLength={200}
              status={isRefused && !line.product_name ? 'error' : undefined}
              value={line.product_name}
              onChange={({ target }) => set(at, { product_name: target.value })}
            />
            <Input
              aria-label={t.price}
              placeholder={t.price}
              inputMode="decimal"
              prefix="¥"
              status={hasWrongPrice(line) || (isRefused && !line.price) ? 'error' : undefined}
              value={line.price}
              onChange={({ target }) => set(at, { price: typedAmount(target.value) })}
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
    </Form.Item>
  );
}
