// Invented names of people and things.

export const departments = [
  { name: '运营中心', code: 'operations', leader: '陈思远', children: ['客户服务', '订单处理', '活动策划'] },
  { name: '财务部', code: 'finance', leader: '林若溪', children: ['对账组', '资金组'] },
  { name: '技术部', code: 'engineering', leader: '周一鸣', children: ['平台组', '运维组'] },
];

export const roles = [
  {
    name: '客服',
    slug: 'support',
    description: '查看订单和用户，跟进支付',
    grants: ['order', 'user', 'payment'],
  },
  {
    name: '财务',
    slug: 'finance',
    description: '对账、导出、调整余额',
    grants: ['payment', 'export', 'user_balance_log', 'order'],
  },
  {
    name: '运营',
    slug: 'operations',
    description: '订单、导入与附件',
    grants: ['order', 'import', 'attachment'],
  },
  {
    name: '审计',
    slug: 'audit',
    description: '只读日志',
    grants: ['operation_log', 'login_log', 'system_log'],
  },
];

/** Sign-in name, display name, role, department. */
export const administrators: readonly (readonly [string, string, string, string])[] = [
  ['chen.siyuan', '陈思远', 'operations', 'operations'],
  ['lin.ruoxi', '林若溪', 'finance', 'finance'],
  ['zhou.yiming', '周一鸣', 'audit', 'engineering'],
  ['wang.xinyi', '王心怡', 'support', 'operations-1'],
  ['liu.haoran', '刘浩然', 'support', 'operations-1'],
  ['zhao.yutong', '赵雨桐', 'operations', 'operations-2'],
  ['huang.zixuan', '黄子轩', 'finance', 'finance-1'],
  ['alice.martin', 'Alice Martin', 'support', 'operations-1'],
];

const surnames = [
  'zhang:张',
  'wang:王',
  'li:李',
  'zhao:赵',
  'chen:陈',
  'yang:杨',
  'huang:黄',
  'wu:吴',
  'xu:徐',
  'sun:孙',
  'ma:马',
  'zhu:朱',
  'hu:胡',
  'guo:郭',
  'he:何',
];
const givenNames = ['wei:伟', 'fang:芳', 'min:敏', 'jing:静', 'lei:磊', 'yan:艳', 'tao:涛', 'juan:娟'];

/** Sign-in and display names of customers, 120 of them. */
export const customers: readonly { username: string; nickname: string }[] = surnames.flatMap((surname) =>
  givenNames.map((given) => {
    const [family = '', familyWord = ''] = surname.split(':');
    const [own = '', ownWord = ''] = given.split(':');
    return { username: `${family}.${own}`, nickname: familyWord + ownWord };
  }),
);

/** What is sold, and for how much. */
export const products: readonly (readonly [name: string, price: string])[] = [
  ['龙井茶 250 g', '128.00'],
  ['普洱茶饼 357 g', '268.00'],
  ['手冲咖啡壶', '159.90'],
  ['咖啡豆 500 g', '89.00'],
  ['陶瓷马克杯', '39.90'],
  ['保温杯 480 ml', '129.00'],
  ['笔记本 A5', '19.90'],
  ['钢笔', '98.50'],
  ['台灯', '219.00'],
  ['蓝牙键盘', '299.00'],
  ['人体工学椅', '1299.00'],
  ['升降桌', '2399.00'],
  ['降噪耳机', '899.00'],
  ['移动电源', '149.00'],
  ['帆布包', '69.00'],
];

export const remarks = ['请尽快发货', '开发票，抬头见备注', '周末送货', '客户电话确认过', '分两次发货'];

export const agents = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
];
