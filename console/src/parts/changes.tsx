// Old and new values side by side.
import { texts } from '../contract/texts.ts';

const t = texts({
  'zh-CN': { field: '字段', old: '原值', fresh: '新值' },
  'en-US': { field: 'Field', old: 'Before', fresh: 'After' },
});

interface Change {
  field: string;
  old?: unknown;
  new?: unknown;
}

const show = (value: unknown): string =>
  value === null || value === undefined ? '–' : typeof value === 'string' ? value : JSON.stringify(value);

export function Changes({ changes }: { changes: readonly Change[] }) {
  if (changes.length === 0) return null;
  return (
    <table className="changes">
      <thead>
        <tr>
          <th scope="col">{t.field}</th>
          <th scope="col">{t.old}</th>
          <th scope="col">{t.fresh}</th>
        </tr>
      </thead>
      <tbody>
        {changes.map((change) => (
          <tr key={change.field}>
            <th scope="row">{change.field}</th>
            <td className="was">{show(change.old)}</td>
            <td>{show(change.new)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
