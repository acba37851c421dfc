interface Entry {
  readonly resource?: { readonly resourceType: string; readonly id: string }
  readonly search?: { readonly mode?: string }
}

/** The parts of an answer that are compared. */
export interface Answer {
  readonly status: number
  readonly body?: { readonly total?: number; readonly entry?: readonly Entry[] } | undefined
}

/**
 * Returns what an answer says, on a line: the status of a refusal, or the ids of what is found, in the order that was asked for, with `+` for what is
 * included. What R4 itself defines, which we list among the definitions, does not count.
 *
 * @param stored `Type/id` of the resources that were stored at first.
 */
export function answerLine(path: string, { status, body }: Answer, stored: ReadonlySet<string>): string {
  if (status >= 300) return String(status)
  const type = path.split('?')[0]?.split('/').at(-1) ?? ''
  const entries = (body?.entry ?? []).filter(
    ({ resource, search }) =>
      search?.mode !== 'outcome' && (type !== 'ValueSet' || stored.has(`${resource?.resourceType}/${resource?.id}`)),
  )
  const found = entries.map(({ resource, search }) => {
    const address = `${resource?.resourceType}/${resource?.id}`
    return `${search?.mode === 'include' ? '+' : ''}${address.startsWith(`${type}/`) ? address.slice(type.length + 1) : address}`
  })
  return [
    ...(path.includes('_sort=') ? found : found.sort()),
    ...(/_total|_count=(?!500)|_summary=count/.test(path) ? [`total=${body?.total ?? '-'}`] : []),
    ...(/_summary|_elements/.test(path)
      ? [
          `members=${Object.keys(entries[0]?.resource ?? {})
            .sort()
            .join()}`,
        ]
      : []),
  ].join(' ')
}
