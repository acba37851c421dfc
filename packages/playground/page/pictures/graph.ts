import { element, svg } from '../dom/element.js'

/** A box of a graph. */
export interface GraphNode {
  readonly title: string
  readonly detail: string
}

/** A target and the way to it. */
export interface GraphEdge {
  readonly map: GraphNode
  readonly label: string
  readonly target: GraphNode
}

/** Distance between rows, and size of a box. */
const ROW = 76
const BOX = { width: 170, height: 58 }
const COLUMNS = { source: 0, map: 192, target: 454 }
const WIDTH = COLUMNS.target + BOX.width

/** A source on the left, maps in the middle, targets on the right. The same is said as a table for those who do not see it. */
export function graphPicture(source: GraphNode, edges: readonly GraphEdge[]): HTMLElement {
  const maps = [...new Map(edges.map(({ map }) => [map.title, map])).values()]
  const height = Math.max(edges.length, maps.length, 1) * ROW
  const rowOf = (index: number, rows: number): number => (height * (index + 0.5)) / rows
  const mapAt = (map: GraphNode): number =>
    rowOf(
      maps.findIndex(({ title }) => title === map.title),
      maps.length,
    )
  const picture = svg(
    'svg',
    { viewBox: `0 0 ${WIDTH} ${height}`, class: 'graph', role: 'img', 'aria-label': spoken(source, edges) },
    ...maps.map((map) => curve([BOX.width, height / 2], [COLUMNS.map, mapAt(map)])),
    ...edges.map(({ map }, index) => curve([COLUMNS.map + BOX.width, mapAt(map)], [COLUMNS.target, rowOf(index, edges.length)])),
    box(source, { x: COLUMNS.source, y: height / 2, kind: 'source' }),
    ...maps.map((map) => box(map, { x: COLUMNS.map, y: mapAt(map), kind: 'map' })),
    ...edges.map(({ target }, index) => box(target, { x: COLUMNS.target, y: rowOf(index, edges.length), kind: 'target' })),
    ...edges.map(({ label }, index) => edgeLabel(label, rowOf(index, edges.length))),
  )
  const frame = element('div', { class: 'graph-frame', tabindex: 0, role: 'group', 'aria-label': 'Graph of the translation' }, picture)
  return element('div', {}, frame, targetList(edges))
}

/** In a narrow window the targets are beyond its edge. */
function targetList(edges: readonly GraphEdge[]): HTMLElement {
  const items = edges.map(({ map, label, target }) =>
    element('li', {}, element('strong', {}, target.title), ` ${target.detail} · ${label} · ${map.title}`),
  )
  return element('ul', { class: 'graph-targets' }, ...items)
}

function spoken({ title }: GraphNode, edges: readonly GraphEdge[]): string {
  return (
    edges.map(({ map, label, target }) => `${title} is ${label} to ${target.title} by ${map.title}`).join('; ') ||
    `${title} has no translation`
  )
}

type Point = readonly [x: number, y: number]

function curve([x1, y1]: Point, [x2, y2]: Point): SVGElement {
  const middle = (x1 + x2) / 2
  return svg('path', { class: 'edge', d: `M${x1} ${y1} C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}` })
}

interface Position {
  readonly x: number
  readonly y: number
  readonly kind: string
}

function box({ title, detail }: GraphNode, { x, y, kind }: Position): SVGElement {
  const top = y - BOX.height / 2
  return svg(
    'g',
    { class: `node ${kind}` },
    svg('rect', { x: x + 1, y: top, width: BOX.width - 2, height: BOX.height, rx: 10 }),
    svg('title', {}, `${title} ${detail}`),
    svg('text', { x: x + 14, y: y - 4, class: 'node-title' }, shortened(title, 18)),
    svg('text', { x: x + 14, y: y + 15, class: 'node-detail' }, shortened(detail, 22)),
  )
}

function edgeLabel(label: string, y: number): SVGElement {
  return svg('text', { x: COLUMNS.target - 12, y: y - 8, class: 'edge-label' }, label)
}

/** Names end with what tells them apart, so the beginning is left out. */
function shortened(text: string, most: number): string {
  return text.length <= most ? text : `…${text.slice(text.length - most + 1)}`
}
