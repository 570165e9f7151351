// In place of a drawer or form whose files are still on their way, as over a slow network.
import { texts } from '../../contract/texts.ts';

const t = texts({
  opening: ['正在打开…', 'Opening…'],
});

export const Opening = () => (
  <div className="opening" role="status">
    {t.opening}
  </div>
);
