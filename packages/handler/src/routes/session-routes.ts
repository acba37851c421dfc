import { backChannelLogout } from '../session-endpoints/back-channel-logout.js'
import { logout, revoke } from '../session-endpoints/end-session.js'
import { sessionList } from '../session-endpoints/session-list.js'
import { userInfo } from '../session-endpoints/userinfo.js'
import type { Service } from '../service.js'
import type { Route } from '../exchange.js'

/** User information and sessions (INTERFACE.md 4.1 to 4.4). */
export function sessionRoutes(service: Service): readonly Route[] {
  const token = { access: 'token' } as const
  const userinfo = { ...token, path: '/oauth2/userinfo', family: 'userinfo', needs: 'openid', summary: 'Claims about the user' } as const
  return [
    { ...userinfo, method: 'GET', body: 'none', run: userInfo },
    { ...userinfo, method: 'POST', body: 'optional-form', run: userInfo },
    {
      ...token,
      method: 'POST',
      path: '/oauth2/logout',
      body: 'optional-json',
      needs: 'a token',
      summary: 'Ends the session of the token',
      run: (exchange) => logout(service.sessions, exchange),
    },
    {
      ...token,
      method: 'POST',
      path: '/auth/revoke',
      body: 'optional-json',
      needs: 'a token',
      summary: 'Ends another session of the user, or all others',
      run: (exchange) => revoke(service.sessions, exchange),
    },
    {
      ...token,
      method: 'GET',
      path: '/auth/me',
      body: 'none',
      needs: 'a token',
      summary: 'The active sessions of the user',
      run: (exchange) => sessionList(service.sessions, exchange),
    },
    ...(service.logoutTokens.length === 0 ? [] : [backChannelRoute(service)]),
  ]
}

/** Its token is the body: the issuer has no other. */
function backChannelRoute(service: Service): Route {
  return {
    access: 'public',
    method: 'POST',
    path: '/oauth2/backchannel-logout',
    family: 'userinfo',
    body: 'form',
    needs: 'a logout token in the body',
    summary: 'Ends the sessions that an issuer names, where it is configured',
    run: (exchange) => backChannelLogout(service.sessions, service.logoutTokens, exchange),
  }
}
