// Files as a grid: thumbnails of pictures, icons for other kinds.
import { FileOutlined } from '@ant-design/icons';
import { Link, useLocation } from 'react-router';
import { useListAddress } from '../parts/show/location.ts';
import { useMay } from '../parts/show/profile.ts';
import { showBytes } from '../parts/show/time.ts';
import { useContent, type Attachment } from './preview.tsx';

/** There are no thumbnails on the service, so larger pictures are not fetched. */
const largestShown = 2_000_000;

export function Tiles({ rows }: { rows: Attachment[] }) {
  const { search } = useLocation();
  const address = useListAddress();
  const may = useMay();
  const mayOpen = may('GET /api/admin/attachments/{id}');
  return (
    <ul className="tiles">
      {rows.map((row) => (
        <li key={row.id} className="panel" data-row={row.id}>
          <Look row={row} />
          {mayOpen ? (
            <Link
              className="row-link cell-text"
              to={`${address}/${row.id}${search}`}
              title={row.display_name}
            >
              {row.display_name}
            </Link>
          ) : (
            <span className="cell-text">{row.display_name}</span>
          )}
          <span className="soft cell-figure">{showBytes(row.size)}</span>
        </li>
      ))}
    </ul>
  );
}

function Look({ row }: { row: Attachment }) {
  const may = useMay();
  const isShown =
    row.mime_type.startsWith('image/') &&
    row.size <= largestShown &&
    may('GET /api/admin/attachments/{id}/preview');
  const { address } = useContent(row, { enabled: isShown });
  if (address) return <img className="tile-look" src={address} alt="" />;
  return (
    <span className="tile-look soft">
      <FileOutlined /> {row.extension}
    </span>
  );
}
