// SPDX-License-Identifier: Apache-2.0
/*
 * The functions of libudev.h that hwloc calls, of a machine without udev: hwloc asks it for the
 * names of devices, which nothing here shows, and passes over what it does not get.
 */
struct udev;
struct udev_device;

struct udev *udev_new(void);
struct udev *udev_unref(struct udev *udev);
struct udev_device *udev_device_new_from_subsystem_sysname(struct udev *udev, const char *subsystem,
							   const char *sysname);
const char *udev_device_get_property_value(struct udev_device *device, const char *key);
struct udev_device *udev_device_unref(struct udev_device *device);

struct udev *udev_new(void)
{
	return 0;
}

struct udev *udev_unref(struct udev *udev)
{
	return 0;
}

struct udev_device *udev_device_new_from_subsystem_sysname(struct udev *udev, const char *subsystem,
							   const char *sysname)
{
	return 0;
}

const char *udev_device_get_property_value(struct udev_device *device, const char *key)
{
	return 0;
}

struct udev_device *udev_device_unref(struct udev_device *device)
{
	return 0;
}
