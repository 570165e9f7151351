// One line of an order in the editor.
import { isAmount } from '../show/money.ts';

export interface Line {
  product_name: string;
  price: string;
  quantity: number;
}

export const emptyLine: Line = { product_name: '', price: '', quantity: 1 };

/** Whether it has a price that is none. */
export const hasWrongPrice = ({ price }: Line): boolean => Boolean(price) && !isAmount(price);

export const isWhole = ({ product_name, price, quantity }: Line): boolean =>
  Boolean(product_name) && isAmount(price) && quantity > 0;
