// The signed-in administrator and their permissions.
import { createContext, useContext } from 'react';
import { permissionOf, type Data, type Route } from '../../contract/api.ts';

export type Profile = Data<'GET /api/admin/info'>;

export const ProfileContext = createContext<Profile | undefined>(undefined);

export function useProfile(): Profile {
  const profile = useContext(ProfileContext);
  if (!profile) throw new Error('nobody has signed in');
  return profile;
}

/** Whether the profile may call a route; the permission comes from the route's declaration. */
export function opens(profile: Profile, route: Route): boolean {
  const slug = permissionOf(route);
  return slug === null || profile.is_super_admin || (profile.permissions as readonly string[]).includes(slug);
}

/** Whether the channel of a payment or refund answers queries and refunds. */
export const answers = (
  { config }: Profile,
  { payment_method }: { payment_method: { type: string } | null },
) => config.payment_results.some((type) => type === payment_method?.type);

export function useMay(): (route: Route) => boolean {
  const profile = useProfile();
  return (route) => opens(profile, route);
}
