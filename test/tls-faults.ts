import { createServer as createPlain, type AddressInfo, type Server, type Socket } from 'node:net'
import { createServer as createTls } from 'node:tls'

/** A server whose connections fail before any request is heard. */
export interface TlsFault {
  /** An https address. */
  readonly origin: string
  readonly stop: () => Promise<void>
}

/** What can be wrong with the TLS of a server, each with what starts one. */
export const TLS_FAULTS: readonly (readonly [name: string, start: () => Promise<TlsFault>])[] = [
  ['has a certificate that nobody trusts', () => started(createTls({ key: KEY, cert: CERTIFICATE }, answer))],
  ['has no certificate', () => started(createTls({}, answer))],
  [
    'has a version of TLS that nobody uses any more',
    () =>
      started(
        createTls({ key: KEY, cert: CERTIFICATE, maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' }, answer),
      ),
  ],
  ['speaks no TLS', () => started(createPlain(answer))],
  ['hangs up within the handshake', () => started(createPlain((socket) => void socket.once('data', () => socket.destroy())))],
]

/** What would be taken for an answer if the connection were. */
function answer(socket: Socket): void {
  socket.on('error', () => socket.destroy())
  socket.end('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}')
}

async function started(server: Server): Promise<TlsFault> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => sockets.add(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Of a certificate that is signed by itself, for these tests only. */
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg564U2U531CHML4+5
OpDnBbeC1OGkxntA+O17sxjH8GyhRANCAARGYZmuJ489dV4b8P5l3Uzo2xl5FPCU
RziaGXy+2aB0b1+OVe1IzUBm3ghxYMOIDNH6uNxXvjJ0sgmY47eAvx2r
-----END PRIVATE KEY-----`

const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBnDCCAUGgAwIBAgIUJQ7ac+2j2wUE8RrkpKU39VqC0rYwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyODE3MjMwMloYDzIxMjYxMTA0
MTcyMzAyWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARGYZmuJ489dV4b8P5l3Uzo2xl5FPCURziaGXy+2aB0b1+OVe1IzUBm
3ghxYMOIDNH6uNxXvjJ0sgmY47eAvx2ro28wbTAdBgNVHQ4EFgQU4aUTGLecexib
WqKOduuK6LFtSIowHwYDVR0jBBgwFoAU4aUTGLecexibWqKOduuK6LFtSIowDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSQAwRgIhAMi8ozte3znQO3oq+fTjWCXXvb7PwTbnY4/5xUmW1GusAiEA
2M64w2yYTJtG54o3RrCMVADyqR8AOv1ahkv26tNJCGw=
-----END CERTIFICATE-----`
