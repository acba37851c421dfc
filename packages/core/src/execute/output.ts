import type { BotAnswer } from './answer.js'
import { BOT_CONTENT_TYPES } from './content-types/registry.js'

/** A plain HTTP answer. */
export interface BotHttpAnswer {
  readonly status: number
  /** Header names in the case they are usually written in; `Content-Type` among them when there is a body. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** Statuses that HTTP forbids a body for. */
const BODILESS: ReadonlySet<number> = new Set([204, 205])

/**
 * Writes a bot's answer for HTTP. The bot's value decides the type; `Accept` may choose another in which it can be given, and is passed
 * over otherwise, as the bot has already run.
 *
 * @param accept The header as sent.
 */
export function writeBotOutput({ status, headers, value, content }: BotAnswer, accept?: string): BotHttpAnswer {
  if (content === undefined || BODILESS.has(status)) return { status, headers }
  const also = BOT_CONTENT_TYPES.find(({ mediaType }) => mediaType === content.mediaType)?.also ?? []
  const forms = [
    { mediaType: content.mediaType, text: () => content.text },
    ...also.map(({ mediaType, write }) => ({ mediaType, text: () => write(value) ?? content.text })),
  ]
  const wanted = parseAccept(accept ?? '*/*')
  const form = forms.reduce((best, one) => (quality(wanted, one.mediaType) > quality(wanted, best.mediaType) ? one : best))
  return { status, headers: { ...headers, 'Content-Type': `${form.mediaType}; charset=utf-8` }, body: form.text() }
}

interface AcceptRange {
  readonly range: string
  readonly q: number
}

function parseAccept(accept: string): readonly AcceptRange[] {
  return accept.split(',').map((part) => {
    const [range = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase())
    const q = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1)
    return { range, q: q >= 0 && q <= 1 ? q : 0 }
  })
}

/** The quality of the most specific range that covers the media type; 0 when none does. */
function quality(wanted: readonly AcceptRange[], mediaType: string): number {
  const covering = [mediaType, `${mediaType.split('/', 1)[0]}/*`, '*/*']
  const found = covering.map((range) => wanted.find((one) => one.range === range)).find((one) => one !== undefined)
  return found?.q ?? 0
}
