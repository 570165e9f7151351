// A text copied by a click.
import { CheckOutlined, CopyOutlined } from '@ant-design/icons';
import { Button } from 'antd';
import { useEffect, useState } from 'react';
import { copyText } from '../../contract/plain-http.ts';
import { texts } from '../../contract/texts.ts';

const t = texts({
  copy: ['复制', 'Copy'],
  copied: ['已复制', 'Copied'],
});

const shownMs = 2000;

export function Copyable({ value }: { value: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), shownMs);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const label = isCopied ? t.copied : t.copy;
  return (
    <span className="cell-code">
      {value}
      <Button
        type="text"
        size="small"
        icon={isCopied ? <CheckOutlined /> : <CopyOutlined />}
        aria-label={label}
        title={label}
        onClick={() => void copyText(value).then(() => setCopied(true))}
      />
    </span>
  );
}
