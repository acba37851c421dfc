import { element, svg } from '../dom/element.js'

/** How two sets of codes lie. */
export interface VennSets {
  readonly relation: string
  readonly left: string
  readonly right: string
  /** Numbers of codes where they are known. */
  readonly counts?: { readonly left: number; readonly both: number; readonly right: number }
}

interface Circles {
  readonly left: readonly [x: number, radius: number]
  readonly right: readonly [x: number, radius: number]
}

const CIRCLES: Readonly<Record<string, Circles>> = {
  same: { left: [200, 72], right: [200, 72] },
  subset: { left: [228, 42], right: [200, 78] },
  superset: { left: [200, 78], right: [228, 42] },
  overlapping: { left: [158, 72], right: [242, 72] },
  disjoint: { left: [112, 66], right: [288, 66] },
}

/** Two circles that lie as the codes of the value sets do; nothing is drawn where that is not known. */
export function vennPicture({ relation, left, right, counts }: VennSets): HTMLElement | undefined {
  const circles = CIRCLES[relation]
  if (circles === undefined) return undefined
  const circle = ([x, r]: readonly [number, number], kind: string): SVGElement => svg('circle', { cx: x, cy: 90, r, class: `set ${kind}` })
  return element(
    'figure',
    { class: 'venn' },
    svg(
      'svg',
      { viewBox: '0 0 400 180', role: 'img', 'aria-label': `The codes of ${left} compared with those of ${right}: ${relation}` },
      circle(circles.right, 'right'),
      circle(circles.left, 'left'),
      ...(counts === undefined || relation !== 'overlapping'
        ? []
        : [number(118, counts.left), number(200, counts.both), number(282, counts.right)]),
    ),
    element('figcaption', {}, element('span', { class: 'key left' }, left), element('span', { class: 'key right' }, right)),
  )
}

function number(x: number, value: number): SVGElement {
  return svg('text', { x, y: 96, class: 'set-count' }, String(value))
}
