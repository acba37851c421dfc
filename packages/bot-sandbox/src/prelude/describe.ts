/** The text of something that a bot threw: name, message and, for errors, where. Never throws. */
export function describe(error: unknown): string {
  try {
    if (!(error instanceof Error)) return typeof error === 'string' ? error : (JSON.stringify(error) ?? String(error))
    return `${error.name}: ${error.message}\n${error.stack ?? ''}`.trim()
  } catch {
    return 'The bot threw a value that cannot be described.'
  }
}
