import type { Connection, HttpRequest } from '../http/http-request.js'

/** True for addresses of our own proxies. */
export type IsTrusted = (address: string) => boolean

/**
 * The caller's address: the socket's peer or, behind trusted proxies, the right-most address in `X-Forwarded-For` that is not a trusted proxy. If there
 * is something else in its place, such as `unknown`, the peer: the caller may have written whatever is to the left of it.
 */
export function remoteHostOf(request: HttpRequest, connection: Connection, isTrusted: IsTrusted): string | undefined {
  const peer = connection.remoteAddress
  if (peer === undefined || !isTrusted(peer)) return peer
  const forwarded = (request.header('x-forwarded-for') ?? '').split(',').map((part) => part.trim())
  const addresses = forwarded.filter((part) => part !== '').map(addressIn)
  return addresses.findLast((address) => address === undefined || !isTrusted(address)) ?? peer
}

/** Some proxies add the port, and then brackets to addresses of IPv6. */
const WITH_PORT = /^(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/

function addressIn(entry: string): string | undefined {
  const [, ipv6, ipv4] = WITH_PORT.exec(entry) ?? []
  const address = ipv6 ?? ipv4 ?? entry
  return bitsOf(address) === undefined ? undefined : address
}

/**
 * Parses a list of proxy networks in CIDR form or single addresses, IPv4 and IPv6.
 *
 * @throws {TypeError} for an entry that is neither.
 */
export function trustedNetworks(list: readonly string[]): IsTrusted {
  const networks = list.map(networkOf)
  if (networks.length === 0) return () => false
  return (address) => {
    const bits = bitsOf(address)
    return bits !== undefined && networks.some((prefix) => bits.startsWith(prefix))
  }
}

function networkOf(text: string): string {
  const [address = '', length] = text.split('/')
  const bits = bitsOf(address)
  const width = address.includes(':') ? 128 : 32
  const prefix = length === undefined ? width : Number(length)
  if (bits === undefined || !Number.isInteger(prefix) || prefix < 0 || prefix > width) {
    throw new TypeError(`trustProxy: ${text} is not an address or network.`)
  }
  return bits.slice(0, 128 - width + prefix)
}

/** The 128 bits of an address as a string of binary digits; IPv4 in its mapped form `::ffff:a.b.c.d`. */
function bitsOf(address: string): string | undefined {
  const mapped = address.toLowerCase().startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address
  return mapped.includes(':') ? ipv6Bits(mapped) : ipv4Bits(mapped)
}

function ipv4Bits(address: string): string | undefined {
  const parts = address.split('.')
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256)) return undefined
  return '0'.repeat(80) + '1'.repeat(16) + parts.map((part) => Number(part).toString(2).padStart(8, '0')).join('')
}

function ipv6Bits(address: string): string | undefined {
  const [head = '', tail, ...more] = address.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const gap = 8 - left.length - right.length
  const groups = tail === undefined ? left : [...left, ...Array<string>(Math.max(gap, 0)).fill('0'), ...right]
  if (more.length > 0 || groups.length !== 8 || !groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return undefined
  return groups.map((group) => parseInt(group, 16).toString(2).padStart(16, '0')).join('')
}
