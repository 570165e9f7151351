// What a chosen file contains. Browsers read it anew each time, and refuse to once something else was saved in it.
import { Failure } from './api.ts';
import { texts } from './texts.ts';

const t = texts({
  unread: [
    '无法读取该文件：它已被更改或移走，请重新选择',
    'The file cannot be read: it was changed or moved; choose it again',
  ],
});

/** @throws Failure when the file was changed or moved */
export const contentOf = (part: Blob): Promise<ArrayBuffer> =>
  part.arrayBuffer().catch(() => {
    throw new Failure(t.unread, -1);
  });
