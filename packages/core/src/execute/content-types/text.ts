import type { BotContentType } from './content-type.js'

/** `text/plain`: a string, whatever it looks like. */
export const text: BotContentType = {
  mediaType: 'text/plain',
  also: [{ mediaType: 'application/json', write: (value) => JSON.stringify(value) }],
  read: (body) => body,
  write: (value) => (typeof value === 'string' ? value : undefined),
}
