import { notifications } from '@mantine/notifications'
import { IconAlertTriangle, IconCheck } from '@tabler/icons-react'
import { reason } from '../api/client'

/** done tells that a change was made. */
export function done(title: string, message?: string): void {
  notifications.show({ title, message: message ?? '', color: 'green', icon: <IconCheck size={16} />, autoClose: 6000 })
}

/** failed tells that a change was not made; it stays until it is closed. */
export function failed(title: string, error: unknown): void {
  notifications.show({ title, message: reason(error), color: 'red', icon: <IconAlertTriangle size={16} />, autoClose: false })
}

/** attempt makes a change and tells when it could not be made. */
export async function attempt(otherwise: string, change: () => Promise<void>): Promise<boolean> {
  try {
    await change()
    return true
  } catch (error) {
    failed(otherwise, error)
    return false
  }
}
