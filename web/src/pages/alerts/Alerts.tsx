import { Stack, Title } from '@mantine/core'
import { useTitle } from '../../parts/useTitle'
import { AlertRules } from './AlertRules'
import { Channels } from './Channels'
import { DeliveryHistory } from './DeliveryHistory'
import { Problems } from './Problems'

/** Alerts is who hears of an incident, of which, and whether they have. */
export default function Alerts() {
  useTitle('Alerts')
  return (
    <Stack gap="md">
      <Title order={1}>Alerts</Title>
      <Problems />
      <Channels />
      <AlertRules />
      <DeliveryHistory />
    </Stack>
  )
}
