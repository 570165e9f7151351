// One's own notifications, and sending for those permitted.
import { badge, flag, lines, time } from '../parts/show/cells.tsx';
import { choice, note, options, words, yesOrNo } from '../parts/form/fields.tsx';
import { resource } from '../parts/resource.ts';
import { Linked } from '../parts/show/linked.tsx';
import { states } from '../parts/show/states.tsx';

const kinds = states({
  announcement: ['公告', 'Announcement', 'blue'],
  message: ['消息', 'Message', 'green'],
  system: ['系统', 'System', 'grey'],
});

const readStates = states({ true: ['已读', 'Read', 'grey'], false: ['未读', 'Unread', 'blue'] });

export default resource('GET /api/admin/notifications', {
  name: 'notifications',
  title: ['通知', 'Notifications'],
  one: ['通知', 'notification'],
  empty: ['没有通知', 'No notifications'],
  label: 'title',
  labels: {
    content: ['内容', 'Content'],
    is_read: ['已读', 'Read'],
    read_at: ['阅读时间', 'Read at'],
    receiver_ids: ['收件人（留空则发给所有人）', 'Recipients (empty: everyone)'],
  },
  filters: { type: choice(kinds), is_read: yesOrNo() },
  dateRange: true,
  sortable: ['title', 'created_at'],
  columns: {
    title: lines(240),
    type: badge(kinds, 128),
    content: { ...lines(320, (value) => <Linked text={value} />), grows: true },
    is_read: flag(90, readStates),
    created_at: time(),
  },
  more: { read_at: time() },
  show: 'GET /api/admin/notifications/{id}',
  create: {
    route: 'POST /api/admin/notifications',
    submit: ['发送', 'Send'],
    fields: { title: words(), content: note(6), receiver_ids: options('admin') },
  },
  actions: [
    {
      route: 'POST /api/admin/notifications/{id}/read',
      text: ['标为已读', 'Mark as read'],
      when: ({ is_read }) => !is_read,
    },
  ],
});
