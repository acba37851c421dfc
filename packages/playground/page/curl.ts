import type { Call } from './engine/call.js'

/** The server that `npm start` brings. */
const DEMO = 'http://127.0.0.1:8080/fhir/R4'

/** A call as a command for a POSIX shell. The token is left to the shell's variable, so that nobody pastes theirs into a chat. */
export function curlOf({ method, path, body, stored = '' }: Call, base: string = DEMO): string {
  const head = `curl -H "Authorization: Bearer $TOKEN" ${quoted(base + path)}`
  const call =
    method === 'GET' || body === undefined
      ? head
      : `${head} \\\n  -H ${quoted(`Content-Type: ${body.type}`)} \\\n  --data-binary ${quoted(body.text)}`
  return stored === ''
    ? call
    : `# with the resources above in content.json:\n# fhir-ops serve --load content.json --dev-token secret\n${call}`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
