// The endpoint that signs a file URL for pictures, videos and links, which send no header.
import { config } from '../../../config/index.js';
import { signLink } from '../../lib/secrets/link.js';
import type { Identity } from '../../models/access/identity.js';
import { resource, text, timestamp } from './response.js';

/** A signed URL in answers. */
export const fileLink = resource('FileLink', { url: text(), expires_at: timestamp() });

/** Texts for the documentation. */
export const linkDescription =
  'Good for an hour and for this file only, as long as the session lasts and its rights allow it.';

/**
 * The URL endpoint of a file route.
 *
 * @param path below /api/admin, of a route that declares `link`
 */
export function linkTo(path: string, { jti }: Identity): { url: string; expires_at: Date } {
  const whole = `/api/admin${path}`;
  const { link, expiresAt } = signLink(whole, jti);
  return { url: `${config.app.url}${whole}?link=${link}`, expires_at: expiresAt };
}
