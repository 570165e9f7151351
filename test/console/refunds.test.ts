// Refunds in the console: requested at their payment, approved by another administrator, shown in the timeline.
import '../support/environment.js';
import '../support/refund-approvals.js';
import { consoleTest } from '../support/console-test.js';
import { makeMethod, signedInWith } from '../support/factories.js';
import { choose, follow } from '../support/pages.js';
import { booksOf, paidPayment } from '../support/refunds.js';

const own = consoleTest();
const { journey } = own;

journey('a payment is refunded in parts from its page', async (t, page) => {
  const { admin } = own.service;
  const payment = await paidPayment(admin, (await makeMethod(admin)).id, '30.00');
  await follow(page, `/console/trade/payments/${payment.payment_no}`);
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Refund', exact: true }).click();
  await dialog.getByText('up to ¥30.00').waitFor();
  t.is(await dialog.getByLabel('Amount').inputValue(), '30.00');
  await dialog.getByLabel('Amount').fill('31.00');
  await dialog.getByLabel('Reason').fill('One box was broken');
  await dialog.getByRole('button', { name: 'Refund', exact: true }).click();
  await dialog.getByText('The amount is more than the 30.00 that is left to refund').first().waitFor();
  await dialog.getByLabel('Amount').fill('5.00');
  await dialog.getByRole('button', { name: 'Refund', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  const story = page.locator('.timeline');
  await story.getByText('requested a refund of ¥5.00 (Channel)').waitFor();
  await story.getByText('Refunded · ¥5.00').waitFor();
  await page.getByRole('button', { name: 'Refund', exact: true }).click();
  await dialog.getByText('up to ¥25.00').waitFor();
  await choose(page, dialog, 'Refund to', 'Balance');
  await dialog.getByLabel('Amount').fill('4.00');
  await dialog.getByLabel('Reason').fill('For the wait');
  await dialog.getByRole('button', { name: 'Refund', exact: true }).click();
  await story.getByText('Refunded · ¥4.00').waitFor();
  t.like(await booksOf(payment), { status: 'paid', refunded_amount: '9.00' });
});

journey('a large refund is approved by another administrator', async (t, page) => {
  const { admin } = own.service;
  const payment = await paidPayment(admin, (await makeMethod(admin)).id, '80.00');
  const clerk = await signedInWith(admin, ['refund.store']);
  const body = { payment_no: payment.payment_no, destination: 'channel', reason: 'Sent back' };
  const [mine, theirs] = [
    (await admin.post('/refunds', { ...body, amount: '20.00' })).data,
    (await clerk.post('/refunds', { ...body, amount: '60.00' })).data,
  ];
  await follow(page, '/console/office/dashboard');
  await page.locator('a.card', { hasText: 'Refunds to approve' }).getByText('2', { exact: true }).click();
  const drawer = page.getByRole('dialog');
  await page.locator('a.row-link', { hasText: mine.refund_no }).click();
  await drawer.getByRole('button', { name: 'Reject' }).waitFor();
  t.is(await drawer.getByRole('button', { name: 'Approve' }).count(), 0, 'nobody approves their own');
  await page.keyboard.press('Escape');
  await drawer.waitFor({ state: 'detached' });
  await page.locator('a.row-link', { hasText: theirs.refund_no }).click();
  await drawer.getByRole('button', { name: 'Approve' }).click();
  const sure = page.locator('.ant-modal-confirm').filter({ hasText: 'Approve this refund?' });
  await sure.getByRole('button', { name: 'Approve' }).click();
  await drawer.getByText('Refunded', { exact: true }).first().waitFor();
  t.like(await booksOf(payment), { refund_reserved: '80.00', refunded_amount: '60.00' });
});
