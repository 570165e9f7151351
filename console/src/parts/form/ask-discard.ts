// The question before edits are lost.
import { texts } from '../../contract/texts.ts';
import { useAsk } from '../show/dialogs.tsx';

const t = texts({
  sure: ['放弃未保存的内容？', 'Discard your changes?'],
  discard: ['放弃', 'Discard'],
  stay: ['继续填写', 'Keep editing'],
});

/** Returns a function that asks, and calls one of these back. */
export function useAskDiscard(): (onDiscard: () => void, onStay?: () => void) => void {
  const ask = useAsk();
  return (onDiscard, onStay) =>
    ask({ title: t.sure, button: t.discard, danger: true, stay: t.stay, onYes: onDiscard, onStay });
}
