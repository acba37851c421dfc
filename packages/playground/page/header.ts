import icon from './icon.svg'
import { element, freshId, type Child } from './dom/element.js'

/** Where operations run. */
export type Place = 'browser' | 'server'

/** The line at the top. */
export interface Header {
  readonly element: HTMLElement
  readonly place: () => Place
  readonly token: () => string
}

const THEMES = ['auto', 'light', 'dark'] as const
const TOKEN_KEY = 'fhir-ops-token'
const THEME_KEY = 'fhir-ops-theme'

/** @param server Host of the server that serves the page; absent without one, and then everything runs in the browser. */
export function createHeader(server: string | undefined, onChange: () => void): Header {
  const place = element(
    'select',
    { id: freshId('place'), onchange: onChange },
    element('option', { value: 'server' }, server ?? ''),
    element('option', { value: 'browser' }, 'this browser'),
  )
  const token = element('input', { id: freshId('token'), type: 'password', autocomplete: 'off', placeholder: 'fo_…' })
  token.value = sessionStorage.getItem(TOKEN_KEY) ?? ''
  token.addEventListener('input', () => {
    sessionStorage.setItem(TOKEN_KEY, token.value.trim())
    onChange()
  })
  const where: readonly Child[] =
    server === undefined
      ? [element('p', { class: 'where', title: 'The engines run in this page. Nothing that you type leaves it.' }, 'Runs in this browser')]
      : [
          element('div', { class: 'where' }, element('label', { for: place.id }, 'Runs on'), place),
          // A form, so that nobody takes the field for a loose password.
          element(
            'form',
            { class: 'where', onsubmit: (event) => event.preventDefault() },
            element('label', { for: token.id }, 'Token'),
            token,
          ),
        ]
  const header: Header = {
    element: element(
      'header',
      { class: 'top' },
      element(
        'a',
        { class: 'brand', href: '#/expand' },
        element('img', { src: icon, alt: '', width: 26, height: 26 }),
        'fhir-ops',
        element('span', {}, 'playground'),
      ),
      ...where,
      themeControl(),
    ),
    place: () => (server === undefined || place.value === 'browser' ? 'browser' : 'server'),
    token: () => token.value.trim(),
  }
  const showPlace = (): void => {
    document.documentElement.dataset['place'] = header.place()
  }
  place.addEventListener('change', showPlace)
  showPlace()
  return header
}

/** Takes a token out of the address (`#token=...`) and keeps it for this tab. It is in the fragment, so that no server logs it. */
export function keepToken(): void {
  const [, token] = /^#token=([\w.~+/-]+=*)/.exec(location.hash) ?? []
  if (token === undefined) return
  sessionStorage.setItem(TOKEN_KEY, token)
  history.replaceState(null, '', location.pathname + location.search)
}

function themeControl(): HTMLElement {
  const select = element('select', { id: freshId('theme') }, ...THEMES.map((theme) => element('option', { value: theme }, theme)))
  select.value = localStorage.getItem(THEME_KEY) ?? 'auto'
  const apply = (): void => {
    document.documentElement.dataset['theme'] = select.value
    localStorage.setItem(THEME_KEY, select.value)
  }
  select.addEventListener('change', apply)
  apply()
  return element('div', { class: 'where theme' }, element('label', { for: select.id }, 'Theme'), select)
}
