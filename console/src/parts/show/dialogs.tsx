// Dialogs above the page: a question before something is done, and a failure.
import { App } from 'antd';
import type { ReactNode } from 'react';
import { texts } from '../../contract/texts.ts';
import type { Question } from '../resource.ts';
import { failureOf, Trace } from './problem.tsx';

const t = texts({
  back: ['返回', 'Back'],
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

/** Shows why a call has failed. */
export function useShowFailure(): (error: unknown) => void {
  const { modal } = App.useApp();
  return (error) => {
    const failure = failureOf(error);
    void modal.error({ title: failure.message, content: <Trace failure={failure} /> });
  };
}
