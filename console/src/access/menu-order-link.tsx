// Opens the arrangement of the menu.
import { texts } from '../contract/texts.ts';
import { LinkButton } from '../parts/show/link-button.tsx';
import { useMay } from '../parts/show/profile.ts';

const t = texts({ 'zh-CN': { arrange: '调整顺序' }, 'en-US': { arrange: 'Arrange' } });

export function MenuOrderLink() {
  const may = useMay();
  if (!may('PUT /api/admin/menus/{id}')) return null;
  return <LinkButton to="order">{t.arrange}</LinkButton>;
}
