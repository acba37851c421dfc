/** What may be inside of an element; `undefined` and `false` are left out. */
export type Child = Node | string | undefined | false

/** Attributes by name. `true` writes an empty one, `false` and `undefined` none; a function listens to the event after `on`. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined | ((event: Event) => void)>>

/** Makes an HTML element. Texts are texts, never markup. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  return filled(document.createElement(tag), attributes, children)
}

/** Makes an SVG element. */
export function svg<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[Tag] {
  return filled(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children)
}

function filled<Made extends Element>(made: Made, attributes: Attributes, children: readonly Child[]): Made {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') made.addEventListener(name.slice('on'.length), value)
    else if (value !== undefined && value !== false) made.setAttribute(name, value === true ? '' : String(value))
  }
  made.append(...children.filter((child) => child !== undefined && child !== false))
  return made
}

/** A button that does something. */
export function button(label: string, onclick: () => void, attributes: Attributes = {}): HTMLButtonElement {
  return element('button', { type: 'button', class: 'button', onclick, ...attributes }, label)
}

let last = 0

/** An id that no other element has. */
export function freshId(name: string): string {
  last += 1
  return `${name}-${last}`
}
