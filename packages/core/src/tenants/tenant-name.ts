/** @throws {TypeError} for a name that is not 1 to 32 small letters, digits and hyphens. */
export function checkTenant(name: string): string {
  // The texts of undefined and null would be names.
  if (typeof name === 'string' && /^[a-z0-9-]{1,32}$/.test(name)) return name
  throw new TypeError('The name of a tenant is 1 to 32 small letters, digits and hyphens.')
}
