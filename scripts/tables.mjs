// The tables of a Markdown text.

/** Headings, rows of cells, and the lines in which the table begins and after which it ends. */
export function tablesIn(text) {
  const lines = text.split('\n')
  return lines.flatMap((line, index) => {
    if (!/^\|[\s:|-]+\|$/.test(line)) return []
    const next = lines.findIndex((other, at) => at > index && !other.startsWith('|'))
    const end = next === -1 ? lines.length : next
    return [{ headings: cells(lines[index - 1]), rows: lines.slice(index + 1, end).map(cells), start: index - 1, end }]
  })
}

function cells(line) {
  return line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'))
}
