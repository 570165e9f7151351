// The endpoints of a list with exports: request a file, get its status.
import Joi from 'joi';
import { currentLanguage, currentZone } from '../../lib/process/context.js';
import type { Text } from '../../lib/values/language.js';
import { timeKeys } from '../../lib/input/list-query.js';
import { writeExport } from '../../jobs/write-export.js';
import type { Identity } from '../../models/access/identity.js';
import { getExport, requestExport } from '../../models/exports/export.js';
import { exportSources } from '../../models/exports/export-sources.js';
import { Export, exportFormats, type ExportFormat, type ExportType } from '../../models/exports/tables.js';
import { mayPass } from './permission.js';
import { namedAdmin } from './records.js';
import { described, integer, keysOf, listOf, record, resource, text, textOrNull } from './response.js';
import { can, nounOf, route, type Route } from './route.js';

/** An export in answers. */
export const exportRecord = resource('Export', {
  ...described(keysOf(Export), {
    status: ['0 waiting or running, 1 finished, 2 failed'],
    type: ['Exported list', 'orders'],
  }),
  status_text: text(),
  error_msg: textOrNull(),
  admin: namedAdmin,
  filters: listOf(record({ name: text(), value: text() })).description('Filters of the export'),
  file_url: textOrNull(),
});

/** Whether that caller may export that list. */
export const mayExport = (admin: Identity, type: ExportType): boolean =>
  mayPass(admin, [`POST /api/admin/${segmentOf(type)}/export`]);

const segmentOf = (type: ExportType): string => type.replaceAll('_', '-');

/** The endpoints for one list. @param title the records, as the name of the permission says them */
export function exportRoutes(type: ExportType, title: Text): Route[] {
  const segment = segmentOf(type);
  const noun = type.replace(/s$/, '');
  const access = can(`${noun}.export`, `导出${title.zh}`, `Export ${title.en}`);
  return [
    route('POST', `/${segment}/export`, {
      name: `export${nounOf(noun)}s`,
      limit: 'export',
      summary: `Export ${title.en} into a file`,
      description:
        'Takes the filters of the list, times in the request zone. The same request repeated while it waits or runs returns the same `export_id`. Progress: `/exports/{id}` and its event stream.',
      access,
      body: bodyOf(exportSources[type].filters),
      fails: ['too_many_exports'],
      response: record({ export_id: integer(), status: integer().description('0: waiting') }),
      async handle({ admin, body: { format, ...criteria } }) {
        const wanted = { adminId: admin.adminId, type, format, criteria };
        const { id, isNew } = await requestExport({
          ...wanted,
          language: currentLanguage(),
          zone: currentZone(),
        });
        if (isNew) await writeExport.enqueueOrLeave({ id });
        return { export_id: id, status: 0 };
      },
      repeat: (id) => Promise.resolve({ export_id: id, status: 0 }),
    }),
    route('GET', `/${segment}/export/status/{id}`, {
      name: `show${nounOf(noun)}Export`,
      summary: `Show an export of ${title.en}`,
      access,
      fails: ['export_not_found'],
      response: exportRecord,
      handle: ({ admin, params }) => getExport(admin, params.id, { type }),
    }),
  ];
}

// As in a query, an empty filter counts as missing.
function bodyOf(filters: Record<string, Joi.Schema>): Joi.ObjectSchema<{ format: ExportFormat }> {
  const keys: Record<string, Joi.Schema> = {
    ...timeKeys(),
    ...filters,
    format: Joi.string()
      .valid(...exportFormats)
      .default('csv'),
  };
  const optional = Object.entries(keys).map(([name, schema]) => [name, schema.empty(Joi.valid('', null))]);
  return Joi.object<{ format: ExportFormat }>(Object.fromEntries(optional) as Record<string, Joi.Schema>);
}
