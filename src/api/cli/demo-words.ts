// Names of the demo in both languages.
import type { Language } from '../../lib/values/language.js';

/** Names of a role and of the couriers come first, before those of their people and companies. */
export const words = {
  'zh-CN': {
    support: ['客户服务', '王心怡', '刘浩然', 'Alice'],
    finance: ['财务', '林若溪', '黄子轩'],
    operations: ['运营', '陈思远', '赵雨桐'],
    audit: ['审计', '周一鸣'],
    buyers: pairs([...'张王李赵陈杨黄吴徐孙马朱胡郭何'], [...'伟芳敏静磊艳涛娟'], ''),
    products: ['龙井茶', '手冲咖啡壶', '咖啡豆', '陶瓷马克杯', '台灯', '人体工学椅'],
    method: '扫码支付（演示）',
    topUp: '充值',
    reconciled: '月度对账完成：',
    couriers: ['快递公司', '顺丰速运', '京东物流', '中国邮政'],
  },
  'en-US': {
    support: ['Customer service', 'Emma Clark', 'Liam Turner', 'Alice'],
    finance: ['Finance', 'Olivia Reed', 'Noah Hughes'],
    operations: ['Operations', 'Mia Foster', 'Jack Bennett'],
    audit: ['Audit', 'Grace Howard'],
    buyers: pairs(
      'Ada Ben Chloe Dan Eva Finn Gina Hugo Iris Jon Kate Leo Mary Nick Rose'.split(' '),
      'Adams Baker Carter Davis Evans Fisher Grant Hall'.split(' '),
      ' ',
    ),
    products: ['Green tea', 'Coffee maker', 'Coffee beans', 'Mug', 'Desk lamp', 'Office chair'],
    method: 'Pay by QR code (demo)',
    topUp: 'Top-up',
    reconciled: 'Reconciled: ',
    couriers: ['Courier', 'DHL', 'FedEx', 'UPS'],
  },
} satisfies Record<Language, object>;
export type Words = (typeof words)[Language];

function pairs(first: string[], second: string[], between: string): string[] {
  return first.flatMap((one) => second.map((two) => `${one}${between}${two}`));
}
