import { describe, expect, it } from 'vitest'
import { remoteHostOf, trustedNetworks, type HttpRequest } from '../src/http/http-request.js'

const forwarded = (value?: string): HttpRequest => ({
  method: 'GET',
  target: '/',
  header: (name) => (name === 'x-forwarded-for' ? value : undefined),
  hasBody: false,
  async *body() {},
  signal: undefined,
})

describe('the remote host', () => {
  it.each([
    [[], '10.0.0.1', '1.2.3.4', '10.0.0.1'],
    [['10.0.0.0/8'], '10.0.0.1', '1.2.3.4', '1.2.3.4'],
    [['10.0.0.0/8'], '::ffff:10.0.0.1', '1.2.3.4', '1.2.3.4'],
    [['10.0.0.0/8'], '10.0.0.1', '6.6.6.6, 1.2.3.4, 10.9.9.9', '1.2.3.4'],
    [['10.0.0.0/8'], '10.0.0.1', undefined, '10.0.0.1'],
    [['10.0.0.0/8'], '10.0.0.1', 'unknown, <script>', '10.0.0.1'],
    [['10.0.0.0/8'], '11.0.0.1', '1.2.3.4', '11.0.0.1'],
    [['10.0.0.0/8'], '10.0.0.1', '6.6.6.6, 1.2.3.4:4711, 10.9.9.9:80', '1.2.3.4'],
    [['10.0.0.0/8'], '10.0.0.1', '6.6.6.6, [2001:db8::1]:4711', '2001:db8::1'],
    [['10.0.0.0/8'], '10.0.0.1', '6.6.6.6, [2001:db8::1]', '2001:db8::1'],
    // What is left of an entry that is no address may be the caller's own invention.
    [['10.0.0.0/8'], '10.0.0.1', '6.6.6.6, unknown', '10.0.0.1'],
    [['10.0.0.0/8'], '10.0.0.1', '6.6.6.6, dead.beef', '10.0.0.1'],
    [['10.0.0.0/8'], '10.0.0.1', '1.2.3.4, ,', '1.2.3.4'],
    [['127.0.0.1'], '127.0.0.1', '1.2.3.4', '1.2.3.4'],
    [['127.0.0.1'], '127.0.0.2', '1.2.3.4', '127.0.0.2'],
    [['fd00::/8'], 'fd12::1', '2001:db8::1', '2001:db8::1'],
    [['::1'], '0:0:0:0:0:0:0:1', '1.2.3.4', '1.2.3.4'],
    [['0.0.0.0/0'], '10.0.0.1', '1.2.3.4', '10.0.0.1'],
    [['10.0.0.0/8'], undefined, '1.2.3.4', undefined],
  ])('behind %j, the peer %s says %s: %s', (networks, peer, header, expected) => {
    expect(remoteHostOf(forwarded(header), { remoteAddress: peer }, trustedNetworks(networks))).toBe(expected)
  })

  it.each(['x', '10.0.0.0/33', '10.0.0.256', '1::2::3', '::/129', '10.0.0.0/a', ''])('%j is not a network', (text) => {
    expect(() => trustedNetworks([text])).toThrow(TypeError)
  })
})
