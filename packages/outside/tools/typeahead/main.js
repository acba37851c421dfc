import { MantineProvider } from '@mantine/core'
import { MedplumClient } from '@medplum/core'
import { MedplumProvider, ValueSetAutocomplete } from '@medplum/react'
import { createElement } from 'react'
import { createRoot } from 'react-dom/client'

const { base, token } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)))
const medplum = new MedplumClient({ baseUrl: base })
medplum.setAccessToken(token)
const onChange = (values) => {
  document.getElementById('chosen').textContent = JSON.stringify(values)
}
const field = createElement(ValueSetAutocomplete, { name: 'code', binding: 'http://a.example/vs', placeholder: 'Search', onChange })
createRoot(document.getElementById('root')).render(createElement(MantineProvider, null, createElement(MedplumProvider, { medplum }, field)))
