// /attachments: stored files of administrators.
import Joi from 'joi';
import type { Context } from 'koa';
import { config } from '../../../../config/index.js';
import { fail } from '../../../lib/errors/app-error.js';
import { kindOf, type FileType } from '../../../lib/files/file-kinds.js';
import { extensionOf } from '../../../lib/files/filename.js';
import { idsBody, nonEmptyText } from '../../../lib/input/schema.js';
import {
  addAttachment,
  attachmentRow,
  attachmentQuery,
  getAttachment,
  listAttachments,
  readFileName,
  deleteAttachments,
  renameAttachment,
} from '../../../models/files/attachment.js';
import { attachment } from '../../declare/records.js';
import { fileLink, linkDescription, linkTo } from '../../declare/file-link.js';
import { sendStored } from '../../http/file-response.js';
import { integer, pageOf, record } from '../../declare/response.js';
import { can, route } from '../../declare/route.js';

const show = can('attachment.show', '查看和下载附件', 'Show and download attachments');
const store = can('attachment.store', '上传附件', 'Upload attachments');
const destroy = can('attachment.destroy', '删除附件', 'Delete attachments');

const sent = {
  access: show,
  link: true,
  reply: 'file',
  fails: ['attachment_file_missing', 'attachment_not_found'],
} as const;

export const routes = [
  route('GET', '/attachments', {
    name: 'listAttachments',
    summary: 'List attachments',
    access: can('attachment.index', '查看附件列表', 'List attachments'),
    query: attachmentQuery,
    response: pageOf(attachment),
    handle: ({ query }) => listAttachments(query),
  }),
  route('POST', '/attachments/upload', {
    name: 'uploadAttachment',
    limit: 'upload',
    summary: 'Upload a file',
    description:
      '`type`, when given, must be the type of the file. The extension must be an allowed one and the content must agree with it.',
    access: store,
    upload: { parts: ['file'], maxBytes: config.storage.uploadMaxBytes, required: true, digest: true },
    body: Joi.object<{ type?: FileType }, true>({ type: Joi.string().valid('image', 'document', 'video') }),
    fails: [
      'attachment_not_found',
      'file_content_mismatch',
      'file_empty',
      'file_name_invalid',
      'file_type_mismatch',
      'file_type_not_allowed',
      'upload_quota_exceeded',
    ],
    response: attachment,
    async handle({ admin, body, upload: file }) {
      const name = readFileName(file.filename, 'file');
      if (file.size === 0) fail('file_empty', { field: 'file' });
      if (body.type !== undefined && body.type !== name.kind.type)
        fail('file_type_mismatch', { field: 'type' });
      return getAttachment(await addAttachment(admin.adminId, name, file));
    },
    repeat: (id) => getAttachment(id),
  }),
  route('POST', '/attachments/batch-delete', {
    name: 'deleteAttachments',
    summary: 'Delete several attachments',
    access: destroy,
    body: idsBody(100),
    response: record({ count: integer() }),
    handle: async ({ body }) => ({ count: await deleteAttachments(body.ids) }),
  }),
  route('GET', '/attachments/{id}', {
    name: 'showAttachment',
    summary: 'Show an attachment',
    access: show,
    fails: ['attachment_not_found'],
    response: attachment,
    handle: ({ params }) => getAttachment(params.id),
  }),
  route('GET', '/attachments/{id}/preview', {
    name: 'previewAttachment',
    summary: 'Preview the file inline',
    description:
      'Raster images, mp4, webm, pdf and plain text are shown; everything else is a download. Answers one byte range.',
    ...sent,
    handle: ({ params }, ctx) => sendAttachment(ctx, params.id, true),
  }),
  route('GET', '/attachments/{id}/download', {
    name: 'downloadAttachment',
    summary: 'Download the file',
    description: 'Answers one byte range.',
    ...sent,
    handle: ({ params }, ctx) => sendAttachment(ctx, params.id, false),
  }),
  route('GET', '/attachments/{id}/link', {
    name: 'linkAttachment',
    summary: 'Get a signed URL of the file',
    description: linkDescription,
    fails: ['attachment_not_found'],
    access: show,
    query: Joi.object<{ inline: boolean }, true>({
      inline: Joi.boolean().default(false).description('To be shown in a page instead of being saved'),
    }),
    response: fileLink,
    async handle({ admin, params, query }) {
      await getAttachment(params.id);
      return linkTo(`/attachments/${params.id}/${query.inline ? 'preview' : 'download'}`, admin);
    },
  }),
  route('PUT', '/attachments/{id}/display-name', {
    name: 'renameAttachment',
    summary: 'Change the display name of an attachment',
    access: can('attachment.update', '重命名附件', 'Rename attachments'),
    // Without a path, as names of files (`cleanFilename`).
    body: Joi.object<{ display_name: string }, true>({
      display_name: nonEmptyText(255).required(),
    }),
    fails: ['attachment_not_found', 'file_name_invalid'],
    response: attachment,
    subject: ({ params }, t) => getAttachment(params.id, t),
    async handle({ params, body }) {
      await renameAttachment(params.id, body.display_name);
      return getAttachment(params.id);
    },
  }),
  route('DELETE', '/attachments/{id}', {
    name: 'deleteAttachment',
    summary: 'Delete an attachment',
    access: destroy,
    fails: ['attachment_not_found'],
    subject: ({ params }, t) => getAttachment(params.id, t),
    async handle({ params }) {
      if ((await deleteAttachments([params.id])) === 0) fail('attachment_not_found');
    },
  }),
];

async function sendAttachment(ctx: Context, id: number, wantsInline: boolean): Promise<void> {
  const row = await attachmentRow(id);
  const { display_name, extension, mime_type, charset, size, storage_key: key, sha256: etag } = row;
  // The download name keeps the verified extension.
  const filename = extensionOf(display_name) === extension ? display_name : `${display_name}.${extension}`;
  const inline = wantsInline && kindOf(extension)?.inline === true;
  const type = charset === null ? mime_type : `${mime_type}; charset=${charset}`;
  const missing = 'attachment_file_missing';
  await sendStored(ctx, { key, filename, type, size, etag, inline, missing });
}
