// The accepted kinds of files: extension → served media type and required content.

export type FileType = 'image' | 'document' | 'video' | 'other';

export interface FileKind {
  mime: string;
  type: FileType;
  /** Media types by signature (file-type); texts have none and are read instead. */
  content: readonly string[] | 'text';
  /** Whether a browser may show it inline. */
  inline?: boolean;
}

export const fileTypes: readonly FileType[] = ['image', 'document', 'video', 'other'];

const kind = (type: FileType, mime: string, ...more: string[]): FileKind => ({
  type,
  mime,
  content: [mime, ...more],
});

const shown = (type: FileType, mime: string, ...more: string[]): FileKind => ({
  ...kind(type, mime, ...more),
  inline: true,
});

const text = (mime: string, inline: boolean): FileKind => ({
  type: 'document',
  mime,
  content: 'text',
  inline,
});

const office = 'application/vnd.openxmlformats-officedocument';
const openDocument = 'application/vnd.oasis.opendocument';

const jpeg = shown('image', 'image/jpeg');

// Nothing a browser or a shell would execute; missing extensions cannot be uploaded.
const kinds = new Map<string, FileKind>(
  Object.entries({
    jpg: jpeg,
    jpeg,
    png: shown('image', 'image/png', 'image/apng'),
    gif: shown('image', 'image/gif'),
    webp: shown('image', 'image/webp'),
    bmp: shown('image', 'image/bmp'),
    avif: shown('image', 'image/avif'),
    tif: kind('image', 'image/tiff'),
    tiff: kind('image', 'image/tiff'),
    heic: kind('image', 'image/heic', 'image/heif'),
    mp4: shown('video', 'video/mp4', 'video/x-m4v'),
    m4v: kind('video', 'video/x-m4v', 'video/mp4'),
    webm: shown('video', 'video/webm'),
    mov: kind('video', 'video/quicktime'),
    avi: kind('video', 'video/vnd.avi'),
    mkv: kind('video', 'video/matroska'),
    mp3: kind('other', 'audio/mpeg'),
    m4a: kind('other', 'audio/x-m4a', 'audio/mp4'),
    wav: kind('other', 'audio/wav'),
    ogg: kind('other', 'audio/ogg', 'audio/ogg; codecs=opus', 'application/ogg'),
    flac: kind('other', 'audio/flac'),
    pdf: shown('document', 'application/pdf'),
    txt: text('text/plain', true),
    csv: text('text/csv', false),
    doc: kind('document', 'application/msword', 'application/x-cfb'),
    xls: kind('document', 'application/vnd.ms-excel', 'application/x-cfb'),
    ppt: kind('document', 'application/vnd.ms-powerpoint', 'application/x-cfb'),
    docx: kind('document', `${office}.wordprocessingml.document`),
    xlsx: kind('document', `${office}.spreadsheetml.sheet`),
    pptx: kind('document', `${office}.presentationml.presentation`),
    odt: kind('document', `${openDocument}.text`),
    ods: kind('document', `${openDocument}.spreadsheet`),
    odp: kind('document', `${openDocument}.presentation`),
    zip: kind('other', 'application/zip'),
    gz: kind('other', 'application/gzip'),
    '7z': kind('other', 'application/x-7z-compressed'),
    rar: kind('other', 'application/x-rar-compressed'),
    tar: kind('other', 'application/x-tar'),
  }),
);

export const kindOf = (extension: string): FileKind | undefined => kinds.get(extension);
