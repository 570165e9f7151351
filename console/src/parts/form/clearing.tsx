// The clear button of an input or a select, which needs an accessible name.
import { CloseCircleFilled } from '@ant-design/icons';
import { texts } from '../../contract/texts.ts';

const t = texts({
  clear: ['清空', 'Clear'],
});

export const clearing = () => ({
  clearIcon: <CloseCircleFilled role="img" aria-label={t.clear} />,
  // Of the button around it, where there is one.
  label: t.clear,
});
