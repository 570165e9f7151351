// The question before edits are lost.
import { App } from 'antd';
import { texts } from '../../contract/texts.ts';

const t = texts({
  'zh-CN': { sure: '放弃未保存的内容？', discard: '放弃', stay: '继续填写' },
  'en-US': { sure: 'Discard your changes?', discard: 'Discard', stay: 'Keep editing' },
});

/** Returns a function that asks, and calls one of these back. */
export function useAskDiscard(): (onDiscard: () => void, onStay?: () => void) => void {
  const { modal } = App.useApp();
  return (onDiscard, onStay) =>
    void modal.confirm({
      title: t.sure,
      okText: t.discard,
      okButtonProps: { danger: true },
      focusable: { autoFocusButton: 'cancel' },
      cancelText: t.stay,
      onOk: onDiscard,
      onCancel: onStay,
    });
}
