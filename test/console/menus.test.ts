// The order of the menu: by dragging and by keys, written through the API.
import '../support/environment.js';
import type { Page } from 'playwright-core';
import { consoleTest } from '../support/console-test.js';
import { follow } from '../support/pages.js';
import { selectRow } from '../support/rows.js';

const own = consoleTest();
const { journey } = own;

const node = (page: Page, title: string) =>
  page.locator('.ant-tree-treenode', { has: page.getByText(title, { exact: true }) });

const placeOf = (slug: string) =>
  selectRow<{ parent: string | null; sort: number }>(
    'SELECT p.slug AS parent, m.sort FROM menus m LEFT JOIN menus p ON p.id = m.parent_id WHERE m.slug = ?',
    [slug],
  );

async function save(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Menu saved').waitFor();
}

journey('a menu entry can be dragged onto a directory', async (t, page) => {
  // Both ends of the way are to be seen.
  await page.setViewportSize({ width: 1280, height: 1400 });
  await follow(page, '/console/access/menus');
  await page.getByRole('link', { name: 'Arrange' }).click();
  await node(page, 'Roles').waitFor();
  const before = await placeOf('roles');
  await node(page, 'Roles')
    .locator('.ant-tree-node-content-wrapper')
    .dragTo(node(page, 'Logs').locator('.ant-tree-node-content-wrapper'));
  await page.getByText(/\d entr(y|ies) will change/).waitFor();
  t.deepEqual(await placeOf('roles'), before, 'nothing is written before it is saved');
  await save(page);
  t.is((await placeOf('roles')).parent, 'logs');
  await page.locator('.menu').getByRole('menuitem', { name: 'Logs' }).click();
  await page.locator('.menu li', { hasText: 'Logs' }).locator('a', { hasText: 'Roles' }).waitFor();
  await page.setViewportSize({ width: 1280, height: 800 });
});

journey('a menu entry can be moved by keyboard', async (t, page) => {
  await follow(page, '/console/access/menus/order');
  await node(page, 'Departments').getByText('Departments', { exact: true }).click();
  const said = page.locator('.panel [role=status]');
  const first = await said.innerText();
  await page.keyboard.press('Alt+ArrowUp');
  await page.getByText(/will change/).waitFor();
  t.not(await said.innerText(), first);
  await page.getByRole('button', { name: 'Undo all' }).click();
  await page.getByText('No changes').waitFor();
  await page.getByRole('button', { name: 'Move out' }).click();
  await save(page);
  t.is((await placeOf('departments')).parent, null);
});
