// Dialogs above the page: a question before something is done or lost, and a failure.
import { App } from 'antd';
import type { ReactNode } from 'react';
import { texts } from '../../contract/texts.ts';
import type { Question } from '../resource.ts';
import { failureOf, Trace } from './problem.tsx';

const t = texts({
  back: ['返回', 'Back'],
  sure: ['放弃未保存的内容？', 'Discard your changes?'],
  discard: ['放弃', 'Discard'],
  stay: ['继续填写', 'Keep editing'],
});

interface Asked extends Question {
  content?: ReactNode;
  /** On the other button; by default Back. */
  stay?: string;
  /** The dialog waits for its end. */
  onYes: () => unknown;
  onStay?: () => void;
}

/** Asks before something is done. The focus is where a hasty Enter destroys nothing. */
export function useAsk(): (asked: Asked) => void {
  const { modal } = App.useApp();
  return ({ title, content, button, danger, stay = t.back, onYes, onStay }) =>
    void modal.confirm({
      title,
      content,
      okText: button,
      okButtonProps: { danger },
      cancelText: stay,
      focusable: { autoFocusButton: danger ? 'cancel' : 'ok' },
      onOk: onYes,
      onCancel: onStay,
    });
}

/** Asks before edits are lost. */
export function useAskDiscard(): (onYes: () => void, onStay?: () => void) => void {
  const ask = useAsk();
  return (onYes, onStay) =>
    ask({ title: t.sure, button: t.discard, danger: true, stay: t.stay, onYes, onStay });
}

/** Shows why a call has failed. */
export function useShowFailure(): (error: unknown) => void {
  const { modal } = App.useApp();
  return (error) => {
    const failure = failureOf(error);
    void modal.error({ title: failure.message, content: <Trace failure={failure} /> });
  };
}
