// /notifications: messages to administrators.
import Joi from 'joi';
import { newest } from '../../../lib/input/list-query.js';
import { clamped, id, ids, nonEmptyText, nonEmptyMultiline } from '../../../lib/input/schema.js';
import { issueTicket, ticketSeconds } from '../../../lib/redis/ticket.js';
import { sendNotification } from '../../../jobs/deliver-notification.js';
import {
  countUnread,
  getNotification,
  listNotifications,
  notificationQuery,
  readAllNotifications,
  readNotification,
} from '../../../models/office/notification-inbox.js';
import { getSentNotification, type NotificationRecord } from '../../../models/office/notification.js';
import { Notification, sentTypes, type NotificationType } from '../../../models/office/tables.js';
import {
  described,
  flag,
  integer,
  keysOf,
  listOf,
  pageOf,
  record,
  resource,
  text,
  timestampOrNull,
} from '../../declare/response.js';
import { can, route } from '../../declare/route.js';

interface NotificationBody {
  title: string;
  content: string;
  type: NotificationType;
  receiver_id?: number;
  receiver_ids?: number[];
}

const keys = {
  ...described(keysOf(Notification), { type: ['announcement, message or system'] }),
  is_read: flag(),
  read_at: timestampOrNull(),
};

const item = resource('Notification', keys);

export const routes = [
  route('GET', '/notifications', {
    name: 'listNotifications',
    summary: 'List your notifications',
    access: 'signedIn',
    query: notificationQuery,
    response: pageOf(item, { unread_count: integer() }),
    handle: ({ admin, query }) => listNotifications(admin.adminId, query),
  }),
  route('POST', '/notifications', {
    name: 'createNotification',
    summary: 'Send a notification to one, several or every administrator',
    description:
      'Without `receiver_id` and `receiver_ids` it goes to everybody and is stored once. With them it goes to all these receivers or, if one does not exist, to none; the answer is the first record, with all `ids`. The answer does not wait for the frames on the WebSocket.',
    access: can('notification.store', '发送通知', 'Send notifications'),
    body: Joi.object<NotificationBody, true>({
      title: nonEmptyText(150).required(),
      content: nonEmptyMultiline(10_000).required(),
      type: Joi.string()
        .valid(...sentTypes)
        .default('announcement'),
      receiver_id: id(),
      receiver_ids: ids(500).min(1),
    }),
    fails: ['notification_not_found', 'receiver_unknown'],
    response: record({ ...keys, ids: listOf(Joi.number().integer()) }),
    async handle({ admin, body: { receiver_id, receiver_ids, ...notification } }) {
      const receivers = [...new Set([...(receiver_ids ?? []), ...(receiver_id ? [receiver_id] : [])])];
      const receiverIds = receivers.length > 0 ? receivers : undefined;
      const made = await sendNotification({
        ...notification,
        senderId: admin.adminId,
        receiverIds,
        receiverId: receiver_id,
      });
      return { ...(made[0] as NotificationRecord), ids: made.map((one) => one.id) };
    },
    repeat: (id) => getSentNotification(id),
  }),
  route('GET', '/notifications/unread-count', {
    name: 'countUnreadNotifications',
    summary: 'Count unread notifications',
    access: 'signedIn',
    response: record({ count: integer().description('Number of unread notifications').example(2) }),
    handle: async ({ admin }) => ({ count: await countUnread(admin.adminId) }),
  }),
  route('GET', '/notifications/recent', {
    name: 'listRecentNotifications',
    summary: 'List your latest notifications',
    access: 'signedIn',
    query: Joi.object<{ limit: number }, true>({
      limit: clamped({ fallback: 5, min: 1, max: 20 })
        .description('Number of notifications, at most 20')
        .example(5),
    }),
    response: record({ list: listOf(item), unread_count: integer() }),
    async handle({ admin, query }) {
      const { list, unread_count } = await listNotifications(admin.adminId, newest(query.limit));
      return { list, unread_count };
    },
  }),
  route('POST', '/notifications/ws-ticket', {
    name: 'createTicket',
    limit: 'ticket',
    summary: 'Get a one-time ticket for the WebSocket or an event stream',
    description:
      'Good for one use within 60 seconds: `/ws/admin/notifications?ticket=…`. A socket is closed with 4401 when its session ends and with 4429 when the administrator opens an eleventh; after any other end connect again, with a new ticket.',
    access: 'signedIn',
    isLogged: false,
    response: record({ ticket: text(), expires_in: integer() }),
    handle: async ({ admin }) => ({ ticket: await issueTicket(admin.jti), expires_in: ticketSeconds }),
  }),
  route('POST', '/notifications/read-all', {
    name: 'readAllNotifications',
    summary: 'Mark everything as read',
    title: { zh: '全部标记为已读', en: 'Mark all notifications as read' },
    access: 'signedIn',
    handle: ({ admin }) => readAllNotifications(admin.adminId),
  }),
  route('GET', '/notifications/{id}', {
    name: 'showNotification',
    summary: 'Show a notification',
    access: 'signedIn',
    fails: ['notification_not_found'],
    response: item,
    handle: ({ admin, params }) => getNotification(admin.adminId, params.id),
  }),
  route('POST', '/notifications/{id}/read', {
    name: 'readNotification',
    summary: 'Mark a notification as read',
    title: { zh: '标记通知为已读', en: 'Mark a notification as read' },
    access: 'signedIn',
    fails: ['notification_not_found'],
    handle: ({ admin, params }) => readNotification(admin.adminId, params.id),
  }),
];
