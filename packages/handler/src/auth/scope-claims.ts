/** Which claims about the user each scope gives. @see https://openid.net/specs/openid-connect-core-1_0.html#ScopeClaims */
export const SCOPE_CLAIMS: readonly (readonly [string, readonly string[]])[] = [
  [
    'profile',
    [
      'name',
      'given_name',
      'family_name',
      'preferred_username',
      'middle_name',
      'nickname',
      'profile',
      'picture',
      'website',
      'gender',
      'birthdate',
      'zoneinfo',
      'locale',
      'updated_at',
    ],
  ],
  ['email', ['email', 'email_verified']],
  ['phone', ['phone_number', 'phone_number_verified']],
  ['address', ['address']],
]
