// Uploaded files.
import { badge, bytes, code, named, text, time } from '../parts/show/cells.tsx';
import { choice, option, words } from '../parts/form/fields.tsx';
import { resource } from '../parts/resource.ts';
import { states } from '../parts/show/states.tsx';
import { Preview } from './preview.tsx';
import { Tiles } from './tiles.tsx';
import { Uploads } from './uploads.tsx';

const kinds = states({
  image: ['图片', 'Picture', 'green'],
  document: ['文档', 'Document', 'blue'],
  video: ['视频', 'Video', 'gold'],
  other: ['其他', 'Other', 'grey'],
});

export default resource('GET /api/admin/attachments', {
  name: 'attachments',
  title: ['附件', 'Attachments'],
  empty: ['还没有附件。把文件拖到上面', 'No files yet. Drop them above to upload'],
  label: 'display_name',
  labels: {
    display_name: ['名称', 'Name'],
    extension: ['扩展名', 'Extension'],
    mime_type: ['内容', 'Content'],
    sha256: ['SHA-256', 'SHA-256'],
  },
  above: Uploads,
  filters: { display_name: words(), type: choice(kinds), extension: words(), admin_id: option('admin') },
  dateRange: true,
  columns: {
    display_name: text(262),
    type: badge(kinds, 108),
    extension: text(108),
    size: bytes(),
    admin: named('username', undefined, 128),
    created_at: time(),
  },
  more: { filename: text(), mime_type: text(), sha256: code() },
  show: 'GET /api/admin/attachments/{id}',
  actions: [
    {
      route: 'PUT /api/admin/attachments/{id}/display-name',
      text: ['改名', 'Rename'],
      form: { display_name: words() },
    },
  ],
  remove: 'DELETE /api/admin/attachments/{id}',
  removeMany: 'POST /api/admin/attachments/batch-delete',
  below: Preview,
  tiles: Tiles,
});
