// A text whose numbers of orders, payments and refunds lead to their pages.
import { PageLink } from './page-link.tsx';

const lists = { ORD: 'orders', PAY: 'payments', REF: 'refunds' };
const number = /\b((?:ORD|PAY|REF)[0-9]{6}[0-9A-Z]{26,28})\b/;

export const Linked = ({ text, onOpen }: { text: string; onOpen?: () => void }) =>
  // Every second part is a number.
  text.split(number).map((part, at) =>
    at % 2 === 0 ? (
      part
    ) : (
      <PageLink
        key={at}
        className="in-text"
        to={`/trade/${lists[part.slice(0, 3) as keyof typeof lists]}/${part}`}
        onClick={onOpen}
      >
        {part}
      </PageLink>
    ),
  );
