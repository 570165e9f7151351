// What a start adds to a database that is in use: menus and permissions of resources that are new in its release.
import '../support/environment.js';
import test from 'ava';
import { syncPermissions } from '../../src/api/declare/permission.js';
import { routes } from '../../src/api/routes.js';
import { change, select } from '../../src/lib/database/db.js';
import { seed } from '../../src/models/access/seed.js';
import { selectRow } from '../support/rows.js';
import { serviceTest } from '../support/service-test.js';

const service = serviceTest({ withWorker: false });

const menuOf = async (slug: string): Promise<{ id: number; parent_id: number; title: string } | undefined> =>
  (
    await select<{ id: number; parent_id: number; title: string }>(
      'SELECT id, parent_id, title FROM menus WHERE slug = ?',
      [slug],
    )
  )[0];

test('a new release adds its menus without restoring deleted ones', async (t) => {
  // As the release before the import centre left it, with another menu renamed and one deleted.
  await change("DELETE FROM permissions WHERE slug LIKE 'import.%'");
  await change("DELETE FROM menus WHERE slug = 'imports'");
  await change("DELETE FROM seeded_menus WHERE slug = 'imports'");
  const [exports, roles] = [await menuOf('exports'), await menuOf('roles')];
  t.is((await service.admin.delete(`/menus/${exports?.id}`)).status, 200);
  t.is((await service.admin.put(`/menus/${roles?.id}`, { title: 'Our roles' })).status, 200);

  // As each start does.
  await seed();
  await syncPermissions(routes);
  const files = await menuOf('files');
  const imports = await menuOf('imports');
  t.is(imports?.parent_id, files?.id);
  const permission = await selectRow<{ menu_id: number }>(
    "SELECT menu_id FROM permissions WHERE slug = 'import.show'",
  );
  t.is(permission.menu_id, imports?.id as number);
  t.is(await menuOf('exports'), undefined);
  t.is((await menuOf('roles'))?.title, 'Our roles');
});
